CREATE TABLE pool_message (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    class      TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    visible_at INTEGER NOT NULL, -- Unix milliseconds; hidden before
    receipt    TEXT    NOT NULL DEFAULT '' -- of the last delivery
) STRICT;
CREATE INDEX pool_message_visible ON pool_message (class, visible_at);
CREATE INDEX pool_message_receipt ON pool_message (receipt) WHERE receipt <> '';
