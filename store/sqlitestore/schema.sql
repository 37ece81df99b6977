-- Files of earlier versions have this table WITHOUT ROWID. There, each comparison of keys reads whole items, which takes long where
-- a workflow's role writes large ones. All statements run on both forms.
CREATE TABLE store_item (
	partition  TEXT    NOT NULL,
	sort       TEXT    NOT NULL,
	version    INTEGER NOT NULL,
	expires_at INTEGER, -- milliseconds since 1970; NULL: never
	attributes TEXT    NOT NULL, -- one JSON object
	PRIMARY KEY (partition, sort)
) STRICT;

CREATE INDEX store_item_expiry ON store_item (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE store_ring (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT,
	partition TEXT NOT NULL,
	sort      TEXT NOT NULL
) STRICT;
