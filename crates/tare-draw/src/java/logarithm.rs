//! Java's `StrictMath.log`, which `Random.nextGaussian` uses, bit for bit.

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The natural logarithm of a positive, normal, finite number.
///
/// `StrictMath` is specified as fdlibm 5.3; this is the method of its `e_log.c`: x = 2^k (1 + f) with
/// sqrt(2)/2 < 1 + f < sqrt(2), s = f / (2 + f), and a polynomial of degree 14 in s (Reme) for
/// log(1 + f) - 2s. The order of the operations is part of the result.
pub(super) fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut high = (bits >> 32) as i32;
    let mut exponent = (high >> 20) - 1023;
    high &= 0x000f_ffff;
    let carry = (high + 0x9_5f64) & 0x10_0000;
    exponent += carry >> 20;
    let mantissa_high = (high | (carry ^ 0x3ff0_0000)) as u32;
    let f = f64::from_bits((u64::from(mantissa_high) << 32) | (bits & 0xffff_ffff)) - 1.0;
    let k = f64::from(exponent);
    if (0x000f_ffff & (2 + high)) < 3 {
        return near_one(f, exponent, k);
    }
    let s = f / (2.0 + f);
    let remainder = polynomial(s * s);
    if ((high - 0x6_147a) | (0x6_b851 - high)) > 0 {
        let half_square = 0.5 * f * f;
        if exponent == 0 {
            return f - (half_square - s * (half_square + remainder));
        }
        return k * LN2_HIGH - ((half_square - (s * (half_square + remainder) + k * LN2_LOW)) - f);
    }
    if exponent == 0 {
        return f - s * (f - remainder);
    }
    k * LN2_HIGH - ((s * (f - remainder) - k * LN2_LOW) - f)
}

/// The case |f| < 2^-20, where three terms of the series are enough.
fn near_one(f: f64, exponent: i32, k: f64) -> f64 {
    if f == 0.0 {
        return if exponent == 0 {
            0.0
        } else {
            k * LN2_HIGH + k * LN2_LOW
        };
    }
    let remainder = f * f * (0.5 - 0.333_333_333_333_333_3 * f);
    if exponent == 0 {
        f - remainder
    } else {
        k * LN2_HIGH - ((remainder - k * LN2_LOW) - f)
    }
}

/// (log(1 + f) - 2s) / s as a polynomial of z = s^2, summed in fdlibm's two interleaved halves.
fn polynomial(z: f64) -> f64 {
    let w = z * z;
    let even = w
        * (3.999_999_999_940_942e-1
            + w * (2.222_219_843_214_978_4e-1 + w * 1.531_383_769_920_937_3e-1));
    let odd = z
        * (6.666_666_666_666_735e-1
            + w * (2.857_142_874_366_239e-1
                + w * (1.818_357_216_161_805e-1 + w * 1.479_819_860_511_658_6e-1)));
    even + odd
}
