//! What the operations of a run ask for: which records, and how many of them at once.

use tare_draw::ycsb::{
    Chooser, Exponential, Hotspot, ScrambledZipfian, Sequential, SkewedLatest, UniformLong, Zipf,
    Zipfian, ZIPFIAN_CONSTANT,
};

use super::read::{BadProperty, Reader};

/// How long a scan is, rows.
#[derive(Debug, Clone)]
pub enum ScanLength {
    Uniform(UniformLong),
    Zipfian(Zipfian),
}

/// `requestdistribution`.
pub fn chooser(
    reader: &Reader<'_>,
    records: u64,
    insert_start: u64,
    insert_count: u64,
    operations: u64,
) -> Result<Chooser, BadProperty> {
    let name = "requestdistribution";
    let kind = reader.text_or(name, "uniform");
    let (low, high) = (
        insert_start as i64,
        (insert_start + insert_count) as i64 - 1,
    );
    let bad = |why: tare_draw::Error| BadProperty::new(name, kind, why);
    Ok(match kind {
        "uniform" => Chooser::Uniform(UniformLong::new(low, high).map_err(bad)?),
        "sequential" => Chooser::Sequential(Sequential::new(low, high).map_err(bad)?.into()),
        "zipfian" => {
            let share = reader.number_or("insertproportion", 0.0)?.max(0.0);
            // One key more than there are records, as coded.
            let expected = (operations as f64 * share * 2.0) as i64;
            let top = (high + 1).saturating_add(expected);
            Chooser::ScrambledZipfian(ScrambledZipfian::new(low, top).map_err(bad)?)
        }
        "zipf" => {
            let zipf = Zipf::new(insert_count as i64, ZIPFIAN_CONSTANT).map_err(bad)?;
            Chooser::Zipf(zipf, low)
        }
        "latest" => Chooser::Latest(SkewedLatest::new(records as i64 - 1).map_err(bad)?),
        "hotspot" => {
            let data = reader.number_or("hotspotdatafraction", 0.2)?;
            let operations = reader.number_or("hotspotopnfraction", 0.8)?;
            Chooser::Hotspot(Hotspot::new(low, high, data, operations).map_err(bad)?)
        }
        "exponential" => {
            let percentile = reader.number_or("exponential.percentile", 95.0)?;
            let share = reader.number_or("exponential.frac", 0.857_142_857_1)?;
            let range = records as f64 * share;
            Chooser::Exponential(Exponential::new(percentile, range).map_err(bad)?)
        }
        other => {
            let why = "expected uniform, zipfian, latest, hotspot, exponential or sequential, or \
                       Tare's own zipf";
            return Err(BadProperty::new(name, other, why));
        }
    })
}

/// `scanlengthdistribution`, up to `longest` rows.
pub fn scan_length(reader: &Reader<'_>, longest: u64) -> Result<ScanLength, BadProperty> {
    let name = "scanlengthdistribution";
    let shortest = reader.whole_in("minscanlength", 1, 1..=i32::MAX as u64)?;
    let (low, high) = (shortest as i64, longest as i64);
    let kind = reader.text_or(name, "uniform");
    let bad = |why: tare_draw::Error| BadProperty::new(name, kind, why);
    Ok(match kind {
        "uniform" => ScanLength::Uniform(UniformLong::new(low, high).map_err(bad)?),
        "zipfian" => ScanLength::Zipfian(Zipfian::new(low, high, ZIPFIAN_CONSTANT).map_err(bad)?),
        other => {
            let why = "expected uniform or zipfian";
            return Err(BadProperty::new(name, other, why));
        }
    })
}
