//! Token buckets of links: policers and shapers.

use super::checked::checked;
use crate::decode::{At, Decode, Definitions, Show, mismatch, refer, table};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use net::TokenBucket;
use serde_json::{Value as Json, json};
use units::{BitRate, ByteCount};

/// A token bucket, or none.
#[derive(Clone)]
pub(crate) struct BucketTable(pub Option<At<TokenBucket>>);

table! {
    /// A token bucket.
    struct Table in "a token bucket" {
        /// Rate of the tokens. Each token stands for a byte on the wire.
        rate: BitRate;
        /// Number of tokens that the bucket can hold: at least as many as the largest packet needs.
        burst: ByteCount;
    }
}

impl Decode for BucketTable {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::Text(word) if word == "none" => Some(BucketTable(None)),
            Value::Table(_) => {
                let Table { rate, burst } = Table::decode(item, faults)?;
                let bucket = TokenBucket { rate, burst };
                // The link checks later that the burst suffices for its packets.
                checked(bucket, bucket.check(ByteCount::new(1)), item, faults)
                    .map(|value| BucketTable(Some(At { value, span: item.span.clone() })))
            }
            _ => {
                let expected = "a table such as { rate = \"10 Mbit/s\", burst = \"30 kB\" }, or \"none\"";
                mismatch(item, expected, faults)
            }
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        refer(
            definitions,
            "bucket",
            |definitions| json!({ "anyOf": [Table::schema(definitions), { "const": "none" }] }),
        )
    }
}

impl Show for BucketTable {
    /// Only the default is ever shown, in the schema: no bucket.
    fn show(&self) -> Json {
        json!("none")
    }
}
