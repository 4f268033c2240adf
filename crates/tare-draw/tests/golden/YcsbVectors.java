package site.ycsb.workloads;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import site.ycsb.RandomByteIterator;
import site.ycsb.Utils;
import site.ycsb.generator.*;

/**
 * Prints what YCSB's own generators make of known random numbers, one tab-separated line each.
 *
 * They draw from ThreadLocalRandom, whose seed is set by reflection: once to see the raw number, and
 * again to see what the generator makes of it.
 */
public class YcsbVectors {
    private static final int COUNT = 40;
    private static Field seedField;

    public static void main(String[] arguments) throws Exception {
        seedField = Thread.class.getDeclaredField("threadLocalRandomSeed");
        seedField.setAccessible(true);
        ThreadLocalRandom.current();
        keys();
        uniforms();
        zipfians();
        latest();
        hotspots();
        exponentials();
        counters();
        choices();
        histograms();
        values();
    }

    private static void seed(long seed) {
        try {
            seedField.setLong(Thread.currentThread(), seed);
        } catch (IllegalAccessException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static ThreadLocalRandom random() {
        return ThreadLocalRandom.current();
    }

    private static String bits(double value) {
        return Long.toHexString(Double.doubleToRawLongBits(value));
    }

    /** raw number = value, for COUNT seeds. */
    private static void pairs(String name, Supplier<String> raw, Supplier<String> value) {
        StringBuilder line = new StringBuilder(name);
        for (int i = 0; i < COUNT; i++) {
            seed(0x9E3779B97F4A7C15L * (i + 1));
            String number = raw.get();
            seed(0x9E3779B97F4A7C15L * (i + 1));
            line.append('\t').append(number).append('=').append(value.get());
        }
        System.out.println(line);
    }

    private static void keys() {
        long[] numbers = {0, 1, 2, 3, 4, 255, 256, 999, 1_000_000, Integer.MAX_VALUE, 1L << 31, (1L << 31) + 1, 1L << 40, Long.MAX_VALUE};
        for (long number : numbers)
            System.out.println("fnv\t" + number + "\t" + Utils.fnvhash64(number));
        for (String order : new String[] {"hashed", "ordered"})
            for (int padding : new int[] {1, 12, 24}) {
                CoreWorkload workload = workload("insertorder", order, "zeropadding", String.valueOf(padding), "recordcount", "1000");
                StringBuilder line = new StringBuilder("key\t" + order + "\t" + padding);
                for (long number : numbers)
                    line.append('\t').append(number).append('=').append(workload.buildKeyName(number));
                System.out.println(line);
            }
    }

    private static CoreWorkload workload(String... properties) {
        Properties given = new Properties();
        for (int i = 0; i < properties.length; i += 2)
            given.setProperty(properties[i], properties[i + 1]);
        site.ycsb.measurements.Measurements.setProperties(given);
        CoreWorkload workload = new CoreWorkload();
        try {
            workload.init(given);
        } catch (site.ycsb.WorkloadException failure) {
            throw new IllegalStateException(failure);
        }
        return workload;
    }

    private static void uniforms() {
        for (long[] range : new long[][] {{0, 999}, {1, 1000}, {5, 5}, {0, (1L << 40)}, {-3, 3}}) {
            UniformLongGenerator generator = new UniformLongGenerator(range[0], range[1]);
            pairs("uniform\t" + range[0] + "\t" + range[1], () -> "" + random().nextLong(), () -> "" + generator.nextValue());
        }
    }

    private static void zipfians() {
        for (long[] range : new long[][] {{0, 999}, {1, 100}, {0, 1}, {0, 2}, {10, 999_999}})
            for (double theta : new double[] {0.99, 0.5, 0.8}) {
                ZipfianGenerator generator = new ZipfianGenerator(range[0], range[1], theta);
                pairs("zipfian\t" + range[0] + "\t" + range[1] + "\t" + theta, () -> bits(random().nextDouble()), () -> "" + generator.nextValue());
            }
        for (long[] range : new long[][] {{0, 999}, {0, 1_000_000}, {100, 50_000}, {0, 3_000_000_000L}}) {
            ScrambledZipfianGenerator generator = new ScrambledZipfianGenerator(range[0], range[1]);
            pairs("scrambled\t" + range[0] + "\t" + range[1], () -> bits(random().nextDouble()), () -> "" + generator.nextValue());
        }
    }

    /** The basis grows between the draws: last = value. */
    private static void latest() {
        for (long start : new long[] {2, 1000, 100_000}) {
            CounterGenerator basis = new CounterGenerator(start);
            SkewedLatestGenerator generator = new SkewedLatestGenerator(basis);
            pairs("latest\t" + (start - 1), () -> bits(random().nextDouble()), () -> {
                String value = basis.lastValue() + ":" + generator.nextValue();
                for (int i = 0; i < 25; i++)
                    basis.nextValue();
                return value;
            });
        }
    }

    private static void hotspots() {
        for (double[] shares : new double[][] {{0.2, 0.8}, {0.01, 0.5}, {0.5, 0.0}, {0.7, 1.0}}) {
            HotspotIntegerGenerator generator = new HotspotIntegerGenerator(10, 1009, shares[0], shares[1]);
            pairs("hotspot\t10\t1009\t" + shares[0] + "\t" + shares[1],
                () -> bits(random().nextDouble()) + ":" + random().nextLong(), () -> "" + generator.nextValue());
        }
    }

    private static void exponentials() {
        for (double[] law : new double[][] {{95, 857.1428571}, {50, 10}, {99.9, 1e6}}) {
            ExponentialGenerator generator = new ExponentialGenerator(law[0], law[1]);
            pairs("exponential\t" + law[0] + "\t" + law[1], () -> bits(random().nextDouble()), () -> bits(generator.nextValue()));
        }
    }

    private static void counters() {
        AcknowledgedCounterGenerator counter = new AcknowledgedCounterGenerator(100);
        long[] order = {102, 101, 100, 105, 104, 106, 103, 110, 109, 108, 107};
        StringBuilder line = new StringBuilder("acknowledged\t100");
        for (long number : order) {
            counter.acknowledge(number);
            line.append('\t').append(number).append('=').append(counter.lastValue());
        }
        System.out.println(line);
        SequentialGenerator sequence = new SequentialGenerator(5, 8);
        line = new StringBuilder("sequential\t5\t8");
        for (int i = 0; i < 10; i++)
            line.append('\t').append(sequence.nextValue());
        System.out.println(line);
    }

    private static void choices() {
        double[][] mixes = {{0.95, 0.05}, {0.5, 0.3, 0.2}, {1, 1, 1, 1, 1}, {0.1, 0.2, 0.7}};
        for (double[] mix : mixes) {
            DiscreteGenerator generator = new DiscreteGenerator();
            StringBuilder name = new StringBuilder("discrete\t");
            for (int i = 0; i < mix.length; i++) {
                generator.addValue(mix[i], "" + i);
                name.append(i == 0 ? "" : ",").append(mix[i]);
            }
            pairs(name.toString(), () -> bits(random().nextDouble()), generator::nextValue);
        }
    }

    private static void histograms() {
        long[][] histograms = {{5, 1, 3, 11}, {0, 0, 7}, {9}, {1, 1, 1, 1, 1, 1}};
        for (long[] buckets : histograms) {
            HistogramGenerator generator = new HistogramGenerator(buckets, 10);
            int area = 0;
            StringBuilder name = new StringBuilder("histogram\t");
            for (int i = 0; i < buckets.length; i++) {
                area += buckets[i];
                name.append(i == 0 ? "" : ",").append(buckets[i]);
            }
            int all = area;
            pairs(name.toString(), () -> "" + random().nextInt(all), () -> "" + generator.nextValue());
        }
    }

    private static void values() {
        for (int i = 0; i < COUNT; i++) {
            seed(0x9E3779B97F4A7C15L * (i + 1));
            // The iterator's constructor draws one number that its array never shows.
            random().nextInt();
            List<String> raw = new ArrayList<>();
            for (int j = 0; j < 3; j++)
                raw.add("" + random().nextInt());
            seed(0x9E3779B97F4A7C15L * (i + 1));
            byte[] octets = new RandomByteIterator(17).toArray();
            System.out.println("printable\t" + String.join(",", raw) + "\t" + hex(octets));
        }
        for (String length : new String[] {"5", "34", "35", "100", "257"}) {
            CoreWorkload workload = workload("dataintegrity", "true", "fieldlength", length, "recordcount", "1000");
            for (long number : new long[] {0, 1, 2, 999})
                for (String field : new String[] {"field0", "field9"})
                    System.out.println("checked\t" + workload.buildKeyName(number) + "\t" + field + "\t" + length + "\t" + checked(workload, workload.buildKeyName(number), field));
        }
    }

    private static String checked(CoreWorkload workload, String key, String field) {
        try {
            java.lang.reflect.Method method = CoreWorkload.class.getDeclaredMethod("buildDeterministicValue", String.class, String.class);
            method.setAccessible(true);
            return (String) method.invoke(workload, key, field);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static String hex(byte[] octets) {
        StringBuilder text = new StringBuilder();
        for (byte octet : octets)
            text.append(String.format("%02x", octet));
        return text.toString();
    }
}
