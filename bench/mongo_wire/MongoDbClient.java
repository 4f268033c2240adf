package tare.ycsb;

import com.mongodb.MongoClient;
import com.mongodb.MongoClientURI;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.UpdateOptions;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.bson.Document;
import org.bson.types.Binary;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * YCSB on MongoDB: the documents, commands and return codes of YCSB's own mongodb binding (0.17) on
 * the driver that it names, mongodb-driver 3.8.0; the binding itself is on no package registry. One
 * client serves all threads.
 */
public class MongoDbClient extends DB {
  private static final Object LOCK = new Object();
  private static int users = 0;
  private static MongoClient client;
  private static MongoDatabase database;

  @Override
  public void init() {
    synchronized (LOCK) {
      if (users++ > 0) {
        return;
      }
      MongoClientURI uri =
          new MongoClientURI(
              getProperties().getProperty("mongodb.url", "mongodb://localhost:27017/ycsb?w=1"));
      client = new MongoClient(uri);
      String named = uri.getDatabase();
      database =
          client.getDatabase(named == null || named.equals("admin") ? "ycsb" : named);
    }
  }

  @Override
  public void cleanup() {
    synchronized (LOCK) {
      if (--users == 0) {
        client.close();
      }
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return told(
        () -> {
          Document found = only(collection(table).find(new Document("_id", key)), fields).first();
          if (found == null) {
            return Status.NOT_FOUND;
          }
          fill(result, found);
          return Status.OK;
        });
  }

  @Override
  public Status scan(
      String table,
      String start,
      int count,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return told(
        () -> {
          Document range = new Document("_id", new Document("$gte", start));
          FindIterable<Document> found =
              collection(table).find(range).sort(new Document("_id", 1)).limit(count);
          try (MongoCursor<Document> cursor = only(found, fields).iterator()) {
            if (!cursor.hasNext()) {
              return Status.ERROR;
            }
            while (cursor.hasNext()) {
              HashMap<String, ByteIterator> values = new HashMap<>();
              fill(values, cursor.next());
              result.add(values);
            }
          }
          return Status.OK;
        });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return told(
        () -> {
          Document change = new Document("$set", document(values, new Document()));
          long matched =
              collection(table).updateOne(new Document("_id", key), change).getMatchedCount();
          return matched == 0 ? Status.NOT_FOUND : Status.OK;
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return told(
        () -> {
          Document made = document(values, new Document("_id", key));
          if (Boolean.parseBoolean(getProperties().getProperty("mongodb.upsert", "false"))) {
            UpdateOptions replaces = new UpdateOptions().upsert(true);
            collection(table).replaceOne(new Document("_id", key), made, replaces);
          } else {
            collection(table).insertOne(made);
          }
          return Status.OK;
        });
  }

  @Override
  public Status delete(String table, String key) {
    return told(
        () -> {
          long deleted = collection(table).deleteOne(new Document("_id", key)).getDeletedCount();
          return deleted == 0 ? Status.NOT_FOUND : Status.OK;
        });
  }

  private interface Work {
    Status done();
  }

  private static Status told(Work work) {
    try {
      return work.done();
    } catch (RuntimeException why) {
      System.err.println(why);
      return Status.ERROR;
    }
  }

  private static MongoCollection<Document> collection(String table) {
    return database.getCollection(table);
  }

  private static FindIterable<Document> only(FindIterable<Document> found, Set<String> fields) {
    if (fields == null) {
      return found;
    }
    Document projection = new Document();
    for (String field : fields) {
      projection.put(field, 1);
    }
    return found.projection(projection);
  }

  private static Document document(Map<String, ByteIterator> values, Document into) {
    for (Map.Entry<String, ByteIterator> entry : values.entrySet()) {
      into.put(entry.getKey(), entry.getValue().toArray());
    }
    return into;
  }

  private static void fill(Map<String, ByteIterator> result, Document found) {
    for (Map.Entry<String, Object> entry : found.entrySet()) {
      if (entry.getValue() instanceof Binary) {
        byte[] bytes = ((Binary) entry.getValue()).getData();
        result.put(entry.getKey(), new ByteArrayByteIterator(bytes));
      }
    }
  }
}
