package sqlitepool

// PollEvery is how soon another process's message is seen.
const PollEvery = pollEvery
