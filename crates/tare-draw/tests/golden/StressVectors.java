package org.apache.cassandra.stress.generate;

import com.datastax.driver.core.CodecRegistry;
import com.datastax.driver.core.DataType;
import com.datastax.driver.core.LocalDate;
import com.datastax.driver.core.ProtocolVersion;
import com.datastax.driver.core.TypeCodec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.cassandra.stress.generate.values.*;
import org.apache.cassandra.stress.settings.OptionDistribution;
import org.apache.cassandra.stress.settings.OptionRatioDistribution;
import org.apache.cassandra.stress.settings.StressSettings;
import org.apache.cassandra.utils.MurmurHash;

/**
 * Prints what cassandra-stress' own classes draw, one tab-separated line each. The wire form of a value
 * is what the tool's driver would send.
 */
public class StressVectors {
    private static final long[] SEEDS = {0, 1, 2, 3, -1, 1_000_000_007L, 5919258029671157411L};
    private static final String[] LAWS = {
        "fixed(7)", "FIXED(1K)", "uniform(1..10)", "UNIFORM(1..100B)", "uniform(-5..5)", "uniform(3..3)", "seq(1..7)", "seq(10..12)",
        "gaussian(1..10)", "GAUSSIAN(1..1M)", "gauss(1..100,5)", "normal(1..100,20,7.5)", "norm(-50..50)",
        "exp(1..10)", "EXP(1..1M)", "exp(5..8)", "extreme(1..10,1.5)", "EXTR(1..1M,0.3)", "extr(1..100,2)", "extreme(1..2,2)",
        "~exp(1..10)", "~uniform(1..100)", "~extreme(1..1K,0.7)", "~gaussian(1..9)", "~fixed(3)",
    };

    public static void main(String[] arguments) throws Exception {
        String part = arguments[0];
        if (part.equals("distributions")) distributions();
        if (part.equals("columns")) columns();
        if (part.equals("partitions")) partitions();
        if (part.equals("release")) release();
        System.exit(0);
    }

    private static String bits(double value) {
        return Long.toHexString(Double.doubleToRawLongBits(value));
    }

    private static void distributions() {
        for (String text : LAWS) {
            Distribution distribution = OptionDistribution.get(text).get();
            System.out.println("distribution\t" + text + "\t" + distribution.minValue() + "\t" + distribution.maxValue() + "\t" + distribution.average()
                + "\t" + quantiles(distribution));
            for (long seed : SEEDS) {
                StringBuilder line = new StringBuilder("draws\t" + text + "\t" + seed);
                distribution.setSeed(seed);
                if (text.startsWith("seq") && seed < 0) continue;
                for (int i = 0; i < 20; i++)
                    line.append('\t').append(distribution.next());
                System.out.println(line);
                line = new StringBuilder("reals\t" + text + "\t" + seed);
                distribution.setSeed(seed);
                for (int i = 0; i < 10; i++)
                    line.append('\t').append(bits(distribution.nextDouble()));
                System.out.println(line);
            }
        }
        // The place within a part comes from a generator that nothing seeds, so only the parts are shown.
        for (String text : new String[] {"qextreme(1..1M,2,2)", "qextr(1..100,1.5,4)", "qextreme(1..1K,0.7,10)"}) {
            Distribution distribution = OptionDistribution.get(text).get();
            long[] bounds = ((DistributionQuantized) distribution).bounds;
            System.out.println("parts\t" + text + "\t" + Arrays.toString(bounds).replaceAll("[\\[\\] ]", "") + "\t" + quantiles(distribution));
        }
        for (String text : new String[] {"fixed(1)/1", "fixed(1)/4", "uniform(1..10)/10", "uniform(5..20)/10", "~exp(1..10)/10K"}) {
            RatioDistribution ratio = OptionRatioDistribution.get(text).get();
            ratio.distribution.setSeed(11);
            StringBuilder line = new StringBuilder("ratio\t" + text + "\t11\t" + bits(ratio.min()) + "\t" + bits(ratio.max()));
            for (int i = 0; i < 8; i++)
                line.append('\t').append(bits(ratio.next()));
            System.out.println(line);
        }
        for (long seed : SEEDS) {
            FasterRandom random = new FasterRandom();
            random.setSeed(seed);
            StringBuilder line = new StringBuilder("faster\t" + seed);
            for (int i = 0; i < 70; i++)
                line.append('\t').append(random.nextLong());
            System.out.println(line);
        }
        for (String name : new String[] {"randomstrC0", "randomstrkey", "seed for stressname", "", "0123456789abcdef", "0123456789abcdef0", "gr\u00fc\u00dfe von hier und dort \u00e9"}) {
            ByteBuffer octets = org.apache.cassandra.utils.ByteBufferUtil.bytes(name);
            long[] hash = new long[2];
            MurmurHash.hash3_x64_128(octets, octets.position(), octets.remaining(), 0, hash);
            System.out.println("murmur\t" + name + "\t" + hash[0] + "\t" + hash[1]);
        }
    }

    private static String quantiles(Distribution distribution) {
        StringBuilder line = new StringBuilder();
        for (double p : new double[] {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999999})
            line.append(line.length() == 0 ? "" : ",").append(distribution.inverseCumProb(p));
        return line.toString();
    }

    private static GeneratorConfig config(String name, String cluster, String size, String population) {
        return new GeneratorConfig("seed for stress" + name, distribution(cluster), distribution(size), distribution(population));
    }

    private static DistributionFactory distribution(String text) {
        return text == null || text.isEmpty() ? null : OptionDistribution.get(text);
    }

    private static Generator<?> generator(String type, String name, GeneratorConfig config) {
        switch (type) {
            case "text": return new Strings(name, config);
            case "bigint": return new Longs(name, config);
            case "blob": return new Bytes(name, config);
            case "boolean": return new Booleans(name, config);
            case "decimal": return new BigDecimals(name, config);
            case "double": return new Doubles(name, config);
            case "float": return new Floats(name, config);
            case "inet": return new Inets(name, config);
            case "int": return new Integers(name, config);
            case "varint": return new BigIntegers(name, config);
            case "timestamp": return new Dates(name, config);
            case "uuid": return new UUIDs(name, config);
            case "timeuuid": return new TimeUUIDs(name, config);
            case "tinyint": return new TinyInts(name, config);
            case "smallint": return new SmallInts(name, config);
            case "time": return new Times(name, config);
            case "date": return new LocalDates(name, config);
            default:
                String element = type.substring(type.indexOf('<') + 1, type.length() - 1);
                return type.startsWith("set") ? new Sets(name, generator(element, name, config), config)
                    : new Lists(name, generator(element, name, config), config);
        }
    }

    /** What the tool's driver sends. */
    private static String wire(String type, Object value) {
        if (type.startsWith("set"))
            // The order of a set on the wire is that of a Java hash table; the server sorts it.
            return hex(org.apache.cassandra.db.marshal.SetType.getInstance(
                generator(type.substring(4, type.length() - 1), "x", config("x", null, null, null)).type, true).decompose((java.util.Set) value));
        if (type.equals("date"))
            value = LocalDate.fromDaysSinceEpoch((Integer) value);
        DataType driver = type.startsWith("list") ? DataType.list(simple(type.substring(5, type.length() - 1))) : simple(type);
        TypeCodec<Object> codec = CodecRegistry.DEFAULT_INSTANCE.codecFor(driver, value);
        return hex(codec.serialize(value, ProtocolVersion.V4));
    }

    private static DataType simple(String type) {
        switch (type) {
            case "text": return DataType.varchar();
            case "bigint": return DataType.bigint();
            case "blob": return DataType.blob();
            case "boolean": return DataType.cboolean();
            case "decimal": return DataType.decimal();
            case "double": return DataType.cdouble();
            case "float": return DataType.cfloat();
            case "inet": return DataType.inet();
            case "int": return DataType.cint();
            case "varint": return DataType.varint();
            case "timestamp": return DataType.timestamp();
            case "uuid": return DataType.uuid();
            case "timeuuid": return DataType.timeuuid();
            case "tinyint": return DataType.tinyint();
            case "smallint": return DataType.smallint();
            case "time": return DataType.time();
            case "date": return DataType.date();
            default: throw new IllegalArgumentException(type);
        }
    }

    private static String hex(ByteBuffer octets) {
        StringBuilder text = new StringBuilder();
        for (int i = octets.position(); i < octets.limit(); i++)
            text.append(String.format("%02x", octets.get(i)));
        return text.toString();
    }

    private static void columns() {
        String[][] columns = {
            {"text", "name", "", "", ""}, {"text", "long", "", "gaussian(1..300)", ""}, {"text", "none", "", "uniform(0..2)", "uniform(1..5)"},
            {"blob", "data", "", "uniform(1..400)", "uniform(1..1M)"}, {"bigint", "b", "", "", ""}, {"bigint", "exp", "uniform(1..10)", "", "exp(1..1000)"},
            {"boolean", "flag", "", "", ""}, {"decimal", "d", "", "", ""}, {"decimal", "small", "", "", "uniform(-200..200)"},
            {"double", "x", "", "", ""}, {"double", "g", "", "", "gaussian(1..1000)"}, {"float", "y", "", "", ""}, {"inet", "host", "", "", ""},
            {"int", "i", "gaussian(1..20)", "", ""}, {"varint", "v", "", "", ""}, {"varint", "neg", "", "", "uniform(-70000..70000)"},
            {"timestamp", "ts", "", "", ""}, {"uuid", "u", "", "", ""}, {"timeuuid", "tu", "", "", ""}, {"timeuuid", "tu2", "", "", "uniform(1..1000)"},
            {"tinyint", "t", "", "", ""}, {"smallint", "s", "", "", ""}, {"time", "tm", "", "", ""}, {"date", "day", "", "", ""},
            {"date", "near", "", "", "uniform(-10..20000)"}, {"list<int>", "li", "", "fixed(3)", ""}, {"list<text>", "lt", "", "fixed(4)", ""},
            {"set<int>", "si", "", "fixed(6)", "uniform(-3..3)"}, {"set<text>", "st", "", "fixed(5)", ""}, {"set<blob>", "sb", "", "fixed(5)", ""},
            {"set<uuid>", "su", "", "fixed(6)", ""}, {"set<timeuuid>", "stu", "", "fixed(6)", ""},
            {"set<double>", "sx", "", "fixed(5)", "uniform(-100..100)"}, {"set<decimal>", "sdec", "", "fixed(5)", "uniform(-100000..100000)"},
            {"set<inet>", "sin", "", "fixed(5)", ""}, {"set<smallint>", "ss", "", "fixed(5)", ""}, {"set<timestamp>", "sts", "", "fixed(5)", ""},
            {"set<uuid>", "su1", "", "fixed(20)", "uniform(1..100000)"}, {"text", "seqs", "", "", "seq(1..1M)"}, {"int", "inv", "", "", "~exp(1..50)"},
        };
        for (String[] column : columns) {
            GeneratorConfig config = config(column[1], column[2], column[3], column[4]);
            Generator<?> generator = generator(column[0], column[1], config);
            for (long seed : SEEDS) {
                if (column[4].startsWith("seq") && seed != 1) continue;
                generator.setSeed(seed);
                StringBuilder line = new StringBuilder("column\t" + String.join("\t", column) + "\t" + seed);
                // The clusters of a timeuuid are never seeded by the tool.
                line.append('\t').append(column[0].equals("timeuuid") ? 1 : generator.clusteringDistribution.next());
                for (int i = 0; i < 3; i++) {
                    Object value = generator.generate();
                    line.append('\t').append(wire(column[0], value)).append('=').append(PartitionIterator.seed(value, generator.type, 17));
                }
                System.out.println(line);
            }
        }
    }

    private static void partitions() throws Exception {
        predefined("fixed(34)");
        predefined("gaussian(1..100)");
        for (PartitionGenerator.Order order : new PartitionGenerator.Order[] {PartitionGenerator.Order.ARBITRARY, PartitionGenerator.Order.SORTED}) {
            table("one", order, new String[][] {{"text", "k", "", "", ""}}, new String[][] {{"int", "c", "uniform(1..6)", "", "uniform(1..50)"}},
                new String[][] {{"text", "v", "", "", ""}, {"bigint", "w", "", "", ""}});
            table("two", order, new String[][] {{"int", "k", "", "", ""}, {"uuid", "l", "", "", ""}},
                new String[][] {{"text", "c", "fixed(3)", "fixed(2)", "uniform(1..100)"}, {"blob", "d", "gaussian(1..5)", "fixed(2)", ""}},
                new String[][] {{"double", "v", "", "", ""}});
            table("three", order, new String[][] {{"timestamp", "k", "", "", ""}},
                new String[][] {{"bigint", "c", "fixed(2)", "", ""}, {"uuid", "d", "fixed(2)", "", ""}, {"inet", "e", "uniform(1..3)", "", ""}},
                new String[][] {{"blob", "v", "", "", ""}, {"int", "w", "", "", ""}, {"boolean", "x", "", "", ""}});
        }
    }

    private static void predefined(String size) {
        List<Generator> key = Collections.singletonList(new HexBytes("key", new GeneratorConfig("randomstrkey", null, OptionDistribution.get("fixed(10)"), null)));
        List<Generator> values = new ArrayList<>();
        for (int i = 0; i < 5; i++)
            values.add(new Bytes("C" + i, new GeneratorConfig("randomstrC" + i, null, OptionDistribution.get(size), null)));
        PartitionIterator partition = PartitionIterator.get(new PartitionGenerator(key, Collections.emptyList(), values, PartitionGenerator.Order.ARBITRARY), null);
        for (long number : new long[] {1, 2, 3, 4, 5, 100, 999_999, 1_000_000, 123_456_789_012L}) {
            partition.reset(new Seed(number, -1), 1, 1.0, false);
            Row row = partition.next();
            StringBuilder line = new StringBuilder("predefined\t" + size + "\t" + number + "\t" + hex((ByteBuffer) partition.getPartitionKey(0)) + "\t" + partition.idseed);
            for (int i = 0; i < 5; i++)
                line.append('\t').append(hex((ByteBuffer) row.get(i)));
            System.out.println(line);
        }
    }

    /** What differs between the releases 3.11 and 4.0: the seeds themselves, and booleans. */
    private static void release() throws Exception {
        for (String revisit : new String[] {"uniform(1..1M)", "uniform(1..1000)", "uniform(0..77)", "fixed(5)"})
            for (String population : new String[] {"seq=1..5", "seq=100..104", "dist=fixed(7)"}) {
                SeedManager seeds = new SeedManager(StressSettings.parse(new String[] {"write", "n=10", "no-warmup", "-insert", "revisit=" + revisit, "-pop", population}));
                java.lang.reflect.Method next = Class.forName("org.apache.cassandra.stress.generate.SeedManager$Generator").getDeclaredMethod("next", int.class);
                next.setAccessible(true);
                java.lang.reflect.Field writes = SeedManager.class.getDeclaredField("writes");
                writes.setAccessible(true);
                StringBuilder line = new StringBuilder("seeds\t" + revisit + "\t" + population);
                for (int i = 0; i < 7; i++)
                    line.append('\t').append(((Seed) next.invoke(writes.get(seeds), 1)).seed);
                System.out.println(line);
            }
        Generator<?> generator = generator("boolean", "flag", config("flag", "", "", ""));
        for (long seed : SEEDS) {
            generator.setSeed(seed);
            StringBuilder line = new StringBuilder("column\tboolean\tflag\t\t\t\t" + seed + "\t1");
            for (int i = 0; i < 8; i++) {
                Object value = generator.generate();
                line.append('\t').append(wire("boolean", value)).append('=').append(PartitionIterator.seed(value, generator.type, 17));
            }
            System.out.println(line);
        }
    }

    private static List<Generator> generators(String[][] columns) {
        List<Generator> made = new ArrayList<>();
        for (String[] column : columns)
            made.add(generator(column[0], column[1], config(column[1], column[2], column[3], column[4])));
        return made;
    }

    private static void table(String name, PartitionGenerator.Order order, String[][] key, String[][] clustering, String[][] values) throws Exception {
        PartitionGenerator generator = new PartitionGenerator(generators(key), generators(clustering), generators(values), order);
        StressSettings settings = StressSettings.parse(new String[] {"write", "n=10", "no-warmup", "-insert", "visits=fixed(3)", "-pop", "seq=1..1000"});
        for (long number = 1; number <= 4; number++) {
            PartitionIterator reads = PartitionIterator.get(generator, null);
            reads.reset(new Seed(number, -1), 1_000_000, 1.0, false);
            rows(name, order, "read", number, 0, reads, key, clustering, values);
            PartitionIterator single = PartitionIterator.get(generator, new SeedManager(settings));
            single.reset(new Seed(number, 1), 1.0, 0.5, true);
            rows(name, order, "write", number, 0, single, key, clustering, values);
            PartitionIterator several = PartitionIterator.get(generator, new SeedManager(settings));
            Seed seed = new Seed(number, 3);
            for (int visit = 0; several.reset(seed, 1.0, 1.0, true); visit++)
                rows(name, order, "visits", number, visit, several, key, clustering, values);
            // Reads of fewer rows than there are choose by chance; an expected share of 0 leaves the forced ones.
            PartitionIterator none = PartitionIterator.get(generator, new SeedManager(settings));
            none.reset(new Seed(number, 1), 0.0, 1.0, true);
            rows(name, order, "none", number, 0, none, key, clustering, values);
        }
    }

    private static void rows(String name, PartitionGenerator.Order order, String kind, long number, int visit, PartitionIterator partition, String[][] key, String[][] clustering, String[][] values) {
        StringBuilder line = new StringBuilder("rows\t" + name + "\t" + order + "\t" + kind + "\t" + number + "\t" + visit + "\t");
        for (int i = 0; i < key.length; i++)
            line.append(i == 0 ? "" : ",").append(wire(key[i][0], partition.getPartitionKey(i)));
        while (partition.hasNext()) {
            Row row = partition.next();
            line.append('\t');
            for (int i = 0; i < clustering.length + values.length; i++) {
                String type = i < clustering.length ? clustering[i][0] : values[i - clustering.length][0];
                line.append(i == 0 ? "" : ",").append(row.get(i) == null ? "null" : wire(type, row.get(i)));
            }
        }
        System.out.println(line);
    }
}
