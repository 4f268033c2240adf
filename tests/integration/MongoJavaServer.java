package tare.tests;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;

/** Serves documents from memory at HOST PORT, with TLS where KEY and CERTIFICATE (PEM) follow. */
public final class MongoJavaServer {
  private MongoJavaServer() {}

  public static void main(String[] words) throws Exception {
    MongoServer server = new MongoServer(new MemoryBackend().version(new Five()));
    if (words.length > 2) {
      server.enableSsl(key(Path.of(words[2])), null, certificate(Path.of(words[3])));
    }
    server.bind(words[0], Integer.parseInt(words[1]));
    Thread.currentThread().join();
  }

  /** MongoDB 5.0's wire version; its own is 8, with which the current Python driver does not speak. */
  private static final class Five implements MongoVersion {
    @Override
    public String toVersionString() {
      return "5.0.0";
    }

    @Override
    public List<Integer> getVersionArray() {
      return List.of(5, 0, 0, 0);
    }

    @Override
    public int getWireVersion() {
      return 13;
    }
  }

  private static PrivateKey key(Path file) throws Exception {
    String inside = Files.readString(file).replaceAll("-----[A-Z ]+-----|\\s", "");
    PKCS8EncodedKeySpec encoded = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(inside));
    return KeyFactory.getInstance("EC").generatePrivate(encoded);
  }

  private static X509Certificate certificate(Path file) throws Exception {
    try (InputStream bytes = Files.newInputStream(file)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(bytes);
    }
  }
}
