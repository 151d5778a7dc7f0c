-- KForge's store, version 1. Later versions are the numbered files in migrations/, applied in order on top of this one,
-- so a new store and an old one take the same path. Text is UTF-8, times are ISO 8601 in UTC, hashes are SHA-256 in
-- hexadecimal; a file named by its hash lies under artefacts/ beside the database.

-- A program that was judged, by the hash of its files.
CREATE TABLE candidate (
  hash        TEXT PRIMARY KEY,
  origin      TEXT NOT NULL,              -- "file softmax.cc"
  created_at  TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE candidate_file (
  candidate   TEXT NOT NULL REFERENCES candidate(hash) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,           -- 0 is the main file
  name        TEXT NOT NULL,
  artefact    TEXT NOT NULL,              -- hash of its content
  PRIMARY KEY (candidate, ordinal)
) WITHOUT ROWID;

-- One compilation, successful or not.
CREATE TABLE build (
  id          INTEGER PRIMARY KEY,
  candidate   TEXT NOT NULL REFERENCES candidate(hash) ON DELETE CASCADE,
  platform    TEXT NOT NULL,
  task_key    TEXT NOT NULL,              -- task and dimensions it was built for
  march       TEXT NOT NULL,
  command     TEXT NOT NULL,
  seconds     REAL NOT NULL,
  from_cache  INTEGER NOT NULL,
  artefact    TEXT,                       -- hash of the shared library; NULL when the compiler refused
  log         TEXT NOT NULL,
  created_at  TEXT NOT NULL
);
CREATE INDEX build_by_candidate ON build(candidate);

-- One verdict. `document` is the whole report as `kforge eval --json` prints it; the columns are what lists and
-- searches need from it.
CREATE TABLE result (
  id          TEXT PRIMARY KEY,           -- sorts by time
  created_at  TEXT NOT NULL,
  candidate   TEXT REFERENCES candidate(hash),  -- NULL when no program could be read
  build       INTEGER REFERENCES build(id),
  task        TEXT NOT NULL,
  task_hash   TEXT NOT NULL,
  shape_set   TEXT NOT NULL,
  platform    TEXT NOT NULL,
  precision   TEXT NOT NULL,
  outcome     TEXT NOT NULL,
  gate        TEXT NOT NULL,              -- '' when none refused it
  time_ns     REAL,
  speedup     REAL,
  against     TEXT NOT NULL,              -- the baseline of `speedup`; '' without one
  machine     TEXT NOT NULL,
  document    TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX result_by_task ON result(task, shape_set, platform, id);

-- Evidence of each gate, in the order judged.
CREATE TABLE gate (
  result      TEXT NOT NULL REFERENCES result(id) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  name        TEXT NOT NULL,
  state       TEXT NOT NULL,              -- passed, failed, skipped, flagged
  summary     TEXT NOT NULL,
  evidence    TEXT NOT NULL,              -- JSON or ''
  PRIMARY KEY (result, ordinal)
) WITHOUT ROWID;

-- Raw times of every contender, round by round.
CREATE TABLE sample (
  result      TEXT NOT NULL REFERENCES result(id) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  contender   TEXT NOT NULL,
  ns_per_call TEXT NOT NULL,              -- JSON array
  PRIMARY KEY (result, ordinal)
) WITHOUT ROWID;

-- Seeds of the inputs a verdict rests on.
CREATE TABLE seed (
  result      TEXT NOT NULL REFERENCES result(id) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  purpose     TEXT NOT NULL,
  seed        TEXT NOT NULL,              -- hexadecimal: SQLite's integers are signed
  PRIMARY KEY (result, ordinal)
) WITHOUT ROWID;

-- The secret from which a task's check inputs are drawn; never shown while it is in use.
CREATE TABLE check_secret (
  task_key    TEXT PRIMARY KEY,
  seed        TEXT NOT NULL,              -- hexadecimal
  uses        INTEGER NOT NULL,
  created_at  TEXT NOT NULL
) WITHOUT ROWID;
