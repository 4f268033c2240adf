import java.util.Random;

/** Prints numbers of java.util.Random and hashes of String, one tab-separated line each. */
public class JavaVectors {
    private static final long[] SEEDS = {0, 1, -1, 42, 5919258029671157411L, Long.MIN_VALUE, Long.MAX_VALUE};
    private static final int COUNT = 12;

    public static void main(String[] arguments) {
        for (long seed : SEEDS) {
            Random random = new Random(seed);
            line("long", seed, i -> String.valueOf(random.nextLong()));
            random.setSeed(seed);
            line("double", seed, i -> bits(random.nextDouble()));
            random.setSeed(seed);
            line("gaussian", seed, i -> bits(random.nextGaussian()));
        }
        // Many more gaussians, as their sum: every branch of the logarithm.
        Random random = new Random(7);
        long joined = 0;
        for (int i = 0; i < 1_000_000; i++)
            joined = joined * 31 + Double.doubleToRawLongBits(random.nextGaussian());
        System.out.println("gaussians\t7\t" + joined);
        for (String text : new String[] {"", "a", "user6284781860667377211:field0:", "gr\u00fc\u00df dich", "\ud83d\ude00 unit"})
            System.out.println("hash\t" + text + "\t" + text.hashCode());
        for (long value : new long[] {0, -1, 5, Long.MIN_VALUE, Long.MIN_VALUE + 1, Long.MAX_VALUE})
            System.out.println("abs\t" + value + "\t" + Math.abs(value));
    }

    private static String bits(double value) {
        return Long.toHexString(Double.doubleToRawLongBits(value));
    }

    private static void line(String name, long seed, java.util.function.IntFunction<String> next) {
        StringBuilder line = new StringBuilder(name + "\t" + seed);
        for (int i = 0; i < COUNT; i++)
            line.append('\t').append(next.apply(i));
        System.out.println(line);
    }
}
