CREATE TABLE pool_message (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    class      TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    visible_at INTEGER NOT NULL -- Unix milliseconds; hidden before
) STRICT;
CREATE INDEX pool_message_visible ON pool_message (class, visible_at);
