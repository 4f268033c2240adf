//! The quantile functions of the real distributions, as commons-math 3.2 computes them.

/// The quantile of the exponential distribution.
pub(super) fn exponential(mean: f64, probability: f64) -> f64 {
    if probability == 1.0 {
        return f64::INFINITY;
    }
    -mean * (1.0 - probability).ln()
}

/// The quantile of the Weibull distribution.
pub(super) fn weibull(shape: f64, scale: f64, probability: f64) -> f64 {
    if probability == 0.0 {
        return 0.0;
    }
    if probability == 1.0 {
        return f64::INFINITY;
    }
    scale * (-(1.0 - probability).ln()).powf(1.0 / shape)
}

/// The quantile of the normal distribution.
pub(super) fn normal(mean: f64, deviation: f64, probability: f64) -> f64 {
    mean + deviation * std::f64::consts::SQRT_2 * inverse_error(2.0 * probability - 1.0)
}

/// The inverse of the error function.
///
/// Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2011: polynomials in
/// w = -ln((1 - x)(1 + x)) or its root, with the coefficients of its double precision version.
fn inverse_error(x: f64) -> f64 {
    let w = -((1.0 - x) * (1.0 + x)).ln();
    let polynomial = if w < 6.25 {
        horner(&CENTRAL, w - 3.125)
    } else if w < 16.0 {
        horner(&MIDDLE, w.sqrt() - 3.25)
    } else if w.is_finite() {
        horner(&TAIL, w.sqrt() - 5.0)
    } else {
        f64::INFINITY
    };
    polynomial * x
}

/// The polynomial with these coefficients, the highest power first.
fn horner(coefficients: &[f64], x: f64) -> f64 {
    let mut rest = coefficients.iter();
    let first = rest.next().copied().unwrap_or(0.0);
    rest.fold(first, |sum, coefficient| coefficient + sum * x)
}

/// For w < 6.25, in w - 3.125.
#[rustfmt::skip]
const CENTRAL: [f64; 23] = [
    -3.644_412_064_017_82e-21, -1.685_059_138_182_016_6e-19, 1.285_848_071_525_64e-18,
    1.115_787_767_802_518_1e-17, -1.333_171_662_854_621e-16, 2.097_276_787_596_856_2e-17,
    6.637_638_134_358_324e-15, -4.054_566_272_975_207e-14, -8.151_934_197_605_472e-14,
    2.633_509_315_308_232_3e-12, -1.297_513_325_345_353_2e-11, -5.415_412_054_294_628e-11,
    1.051_212_273_321_532_3e-9, -4.112_633_980_346_984e-9, -2.907_036_995_788_200_5e-8,
    4.234_787_782_793_240_4e-7, -1.365_469_200_083_467_9e-6, -1.388_252_336_278_646_9e-5,
    1.867_342_080_340_571_4e-4, -7.407_025_341_662_67e-4, -6.033_670_871_430_149e-3,
    2.401_581_824_255_896_2e-1, 1.653_654_562_683_102_7,
];

/// For w < 16, in sqrt(w) - 3.25.
#[rustfmt::skip]
const MIDDLE: [f64; 19] = [
    2.213_737_692_177_578_7e-9, 9.075_656_193_888_539e-8, -2.751_740_629_706_454_5e-7,
    1.823_962_921_438_922_8e-8, 1.502_740_396_890_982_8e-6, -4.013_867_526_981_546e-6,
    2.923_444_908_995_544_6e-6, 1.247_530_448_167_177_9e-5, -4.731_822_900_905_573_4e-5,
    6.828_485_145_957_318e-5, 2.403_111_038_709_789_4e-5, -3.550_375_203_628_475e-4,
    9.532_893_797_373_805e-4, -1.688_275_556_023_504_7e-3, 2.491_442_096_107_851e-3,
    -3.751_208_507_569_241e-3, 5.370_914_553_590_064e-3, 1.005_258_967_694_159_2,
    3.083_885_610_492_220_8,
];

/// Beyond, in sqrt(w) - 5.
#[rustfmt::skip]
const TAIL: [f64; 17] = [
    -2.710_992_061_643_857_3e-11, -2.555_641_816_996_525e-10, 1.507_657_269_350_054_8e-9,
    -3.789_465_440_126_737e-9, 7.615_701_208_078_34e-9, -1.496_002_662_714_924e-8,
    2.914_795_345_090_108e-8, -6.771_199_775_845_234e-8, 2.290_048_222_802_665_5e-7,
    -9.929_827_294_231_7e-7, 4.526_062_597_223_154e-6, -1.968_177_810_553_167e-5,
    7.599_527_703_001_776e-5, -2.150_301_193_004_447_7e-4, -1.387_193_183_362_312_2e-4,
    1.010_300_464_864_534_4, 4.849_906_401_408_584,
];
