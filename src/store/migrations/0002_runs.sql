-- Runs of `kforge forge`: everything is written before it is used, so that a run killed at any moment goes on from
-- here. JSON columns hold what only the loop reads; the others serve lists and searches.

CREATE TABLE run (
  id          TEXT PRIMARY KEY,           -- sorts by time
  created_at  TEXT NOT NULL,
  task        TEXT NOT NULL,
  task_hash   TEXT NOT NULL,
  shape_set   TEXT NOT NULL,
  platform    TEXT NOT NULL,
  precision   TEXT NOT NULL,
  generator   TEXT NOT NULL,
  analyst     TEXT NOT NULL,
  strategy    TEXT NOT NULL,
  options     TEXT NOT NULL,              -- JSON: all that --resume needs
  seed        TEXT NOT NULL,              -- hexadecimal: chance in strategies
  state       TEXT NOT NULL,              -- running, finished
  ended       TEXT NOT NULL DEFAULT '',   -- why: budget, target, roofline, no_gain, interrupted, ...
  best        INTEGER,                    -- number of the attempt that won
  result      TEXT REFERENCES result(id), -- its confirmation: the published figure
  speedup     REAL,
  against     TEXT NOT NULL DEFAULT '',
  folder      TEXT NOT NULL DEFAULT '',   -- kernel and reports
  document    TEXT NOT NULL DEFAULT ''    -- report.json
) WITHOUT ROWID;
CREATE INDEX run_by_task ON run(task, platform, id);

-- One program tried. A row appears when it is planned; generation and verdict follow.
CREATE TABLE attempt (
  run         TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  number      INTEGER NOT NULL,
  plan        TEXT NOT NULL,              -- JSON: pass, parent, lane, generator
  generation  TEXT,                       -- JSON: what the agent said it did; NULL until it answered
  candidate   TEXT REFERENCES candidate(hash),
  verdict     TEXT,                       -- JSON: what was found and decided; NULL until judged
  result      TEXT REFERENCES result(id),
  clock       REAL,                       -- seconds of the run when it was judged
  PRIMARY KEY (run, number)
) WITHOUT ROWID;

-- What the analyst recommended for an attempt, and what came of it.
CREATE TABLE advice (
  run         TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  attempt     INTEGER NOT NULL,           -- the attempt made on it
  tag         TEXT NOT NULL,
  made_by     TEXT NOT NULL,
  expected_gain REAL NOT NULL,
  document    TEXT NOT NULL,              -- JSON
  measured_gain REAL,                     -- NULL: not (yet) measured
  PRIMARY KEY (run, attempt)
) WITHOUT ROWID;

-- A profile of an attempt's program, as the agents get it.
CREATE TABLE profile (
  run         TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  attempt     INTEGER NOT NULL,
  artefact    TEXT NOT NULL,              -- hash of the CBOR document
  PRIMARY KEY (run, attempt)
) WITHOUT ROWID;

-- Every request to a model. `take` counts the times one was asked: a stream that a crash cut is asked again.
CREATE TABLE model_call (
  run         TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  role        TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  ordinal     INTEGER NOT NULL,
  take        INTEGER NOT NULL,
  model       TEXT NOT NULL,
  state       TEXT NOT NULL,              -- asked, received, failed, lost
  request     TEXT NOT NULL,              -- hash of the prompt's text
  reply       TEXT,                       -- hash of the reply's text
  ended       TEXT NOT NULL DEFAULT '',   -- complete, truncated, refused, ...
  detail      TEXT NOT NULL DEFAULT '',
  input_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  estimated   INTEGER NOT NULL DEFAULT 0,
  dollars     REAL,
  seconds     REAL NOT NULL DEFAULT 0,
  tries       INTEGER NOT NULL DEFAULT 1,
  asked_at    TEXT NOT NULL,
  PRIMARY KEY (run, role, attempt, ordinal, take)
) WITHOUT ROWID;

-- The schedule that won, by kernel family and shape bucket: the smith's first guess next time.
CREATE TABLE winner (
  family      TEXT NOT NULL,
  platform    TEXT NOT NULL,
  machine     TEXT NOT NULL,
  precision   TEXT NOT NULL,
  schedule    TEXT NOT NULL,
  time_ns     REAL NOT NULL,
  run         TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (family, platform, machine, precision)
) WITHOUT ROWID;

-- Values of tunables that were tried: by program, task and machine, so that nothing is measured twice.
CREATE TABLE tuning (
  candidate   TEXT NOT NULL,              -- hash of the program before its values were filled in
  task_key    TEXT NOT NULL,
  machine     TEXT NOT NULL,
  document    TEXT NOT NULL,              -- JSON: the table and the best values
  created_at  TEXT NOT NULL,
  PRIMARY KEY (candidate, task_key, machine)
) WITHOUT ROWID;
