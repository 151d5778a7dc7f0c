-- A store as KForge wrote it at version 2: one run of the built-in generator, one of a model. Paths and
-- everything that is not about runs is left out. The kernels lie beside this file by their hashes.
PRAGMA foreign_keys=OFF;
PRAGMA application_id=1262908007;
PRAGMA user_version=2;
BEGIN TRANSACTION;
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
INSERT INTO "advice" VALUES('2mjgmxs52201',2,'unroll','rules',1.1,'{"bottleneck":"not known","evidence":"no rule is left that applies to the facts at hand","change":"Look at the innermost loop: contiguous access, whole vectors, several independent accumulators, one parallel region; change one of these and measure.","expected_gain":1.1,"confidence":0.1,"tag":"unroll","by":"rules"}',9.73027183273417639597e-01);
INSERT INTO "advice" VALUES('2mjgmxs52201',3,'unroll','rules',1.1,'{"bottleneck":"not known","evidence":"no rule is left that applies to the facts at hand","change":"Look at the innermost loop: contiguous access, whole vectors, several independent accumulators, one parallel region; change one of these and measure.","expected_gain":1.1,"confidence":0.1,"tag":"unroll","by":"rules"}',1.0522433765982026621e+00);
INSERT INTO "advice" VALUES('2mjgmxs52201',4,'unroll','rules',1.1,'{"bottleneck":"not known","evidence":"no rule is left that applies to the facts at hand","change":"Look at the innermost loop: contiguous access, whole vectors, several independent accumulators, one parallel region; change one of these and measure.","expected_gain":1.1,"confidence":0.1,"tag":"unroll","by":"rules"}',NULL);
INSERT INTO "advice" VALUES('2mjgnw3gszwp',4,'unroll','rules',1.1,'{"bottleneck":"not known","evidence":"no rule is left that applies to the facts at hand","change":"Look at the innermost loop: contiguous access, whole vectors, several independent accumulators, one parallel region; change one of these and measure.","expected_gain":1.1,"confidence":0.1,"tag":"unroll","by":"rules"}',2.50578566121842483127e+00);
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
INSERT INTO "attempt" VALUES('2mjgmxs52201',1,'{"pass":"functional","parent":-1,"rival":-1,"inspiration":-1,"lane":0,"generator":0}','{"change":"first design, from caches and shapes","extraction":"ok","generator":"smith","no_program":"","schedule":"{\"smith\":1,\"steps\":[{\"do\":\"vectorize\",\"on\":[\"i_2\"],\"by\":2}]}","story":"","seconds":0.000454877}','831aa496ee9617b7952aa4a26b158506ce2ad0aa83038fb2e12541bfc24ea4fd','{"outcome":"passed","gate":"","reason":"","evidence":"","time_ns":905.4843750000001,"modelled_ns":null,"speedup":null,"over_rival":null,"better":true,"accepted":true,"max_rel_error":0.0,"roofline":{"bound":"memory","fraction":0.13889630355817845},"thread_use":0.14076704606510237,"seconds":3.832121484,"tuning":"","tuned_candidate":""}','2mjgn4q3vt6a',3.834604283);
INSERT INTO "attempt" VALUES('2mjgmxs52201',2,'{"pass":"optimization","parent":1,"rival":1,"inspiration":-1,"lane":0,"generator":0}','{"change":"4 vectors along i_2: more independent work at once, or fewer registers","extraction":"ok","generator":"smith","no_program":"","schedule":"{\"smith\":1,\"steps\":[{\"do\":\"vectorize\",\"on\":[\"i_2\"],\"by\":4}]}","story":"vectorize i_2 4\n","seconds":0.000231625}','b38b63e18b8e49cf403cc65a1f2915ec6227a8d0d05949dc2b38ebfda3c5261a','{"outcome":"slower","gate":"","reason":"","evidence":"","time_ns":940.9335937500001,"modelled_ns":null,"speedup":null,"over_rival":{"value":0.9730271832734176,"lo":0.8964670768343574,"hi":0.988455975807512,"against":"attempt 1"},"better":false,"accepted":false,"max_rel_error":null,"roofline":null,"thread_use":0.14288075772295492,"seconds":0.708036755,"tuning":"","tuned_candidate":""}',NULL,4.547604403);
INSERT INTO "attempt" VALUES('2mjgmxs52201',3,'{"pass":"optimization","parent":1,"rival":1,"inspiration":-1,"lane":0,"generator":0}','{"change":"1 vectors along i_2: more independent work at once, or fewer registers","extraction":"ok","generator":"smith","no_program":"","schedule":"{\"smith\":1,\"steps\":[{\"do\":\"vectorize\",\"on\":[\"i_2\"],\"by\":1}]}","story":"vectorize i_2 1\n","seconds":0.000162863}','ca1d7dd6b35b7b4aa5c154ebf37be18a4a210e02dd7ecaf7fb29a5b4c29c5261','{"outcome":"passed","gate":"","reason":"","evidence":"","time_ns":913.1367187500002,"modelled_ns":null,"speedup":null,"over_rival":{"value":1.0522433765982027,"lo":1.0307377177150923,"hi":1.2435620522040995,"against":"attempt 1"},"better":true,"accepted":true,"max_rel_error":0.0,"roofline":{"bound":"memory","fraction":0.1377323132831115},"thread_use":0.19533768872508733,"seconds":1.164622411,"tuning":"","tuned_candidate":""}','2mjgn6hzc25k',5.722621602);
INSERT INTO "attempt" VALUES('2mjgmxs52201',4,'{"pass":"optimization","parent":3,"rival":3,"inspiration":-1,"lane":0,"generator":0}','{"change":"","extraction":"exhausted","generator":"smith","no_program":"every neighbouring design was tried","schedule":"","story":"","seconds":0.000237324}',NULL,NULL,NULL,NULL);
INSERT INTO "attempt" VALUES('2mjgnw3gszwp',1,'{"pass":"functional","parent":-1,"rival":-1,"inspiration":-1,"lane":0,"generator":0}','{"change":"a first try","extraction":"ok","generator":"openai:m","no_program":"","schedule":"","story":"","seconds":0.012102412}','f3aafb5daa8a04728542892f0aef7f6f31ac0e929df1c3bba24976c73fbf8277','{"outcome":"compile_error","gate":"","reason":"kernel.cc:3:3: error: ''undeclared_name'' was not declared in this scope\n    3 |   undeclared_name;\n      |   ^~~~~~~~~~~~~~~\n","evidence":"","time_ns":null,"modelled_ns":null,"speedup":null,"over_rival":null,"better":false,"accepted":false,"max_rel_error":null,"roofline":null,"thread_use":0.0,"seconds":0.416618408,"tuning":"","tuned_candidate":""}','2mjgnwhc9cbw',0.435937402);
INSERT INTO "attempt" VALUES('2mjgnw3gszwp',2,'{"pass":"functional","parent":1,"rival":-1,"inspiration":-1,"lane":0,"generator":0}','{"change":"copies","extraction":"ok","generator":"openai:m","no_program":"","schedule":"","story":"","seconds":0.003481828}','da0e1b96db64cef075207e51da15b3b314fccf69aab625446be190b71025e806','{"outcome":"wrong_value","gate":"accuracy","reason":"502 of 1024 elements of y are outside the fp32 policy on own inputs; worst y[1,50] = -6.71977997, must be 0 +- 7.9e-06","evidence":"{\"elements\":1024,\"error_by_region\":[4.575699781524465,3.340586182624997,3.564266027959565,3.927052354723812,4.133436792586092,3.8475539381369983,3.315630624344776,3.9858321284209066],\"first_wrong\":[0,0],\"inputs\":\"own\",\"max_abs\":6.719779968261719,\"output\":\"y\",\"rel_norm\":0.9865412640219019,\"worst\":[{\"bound\":7.93222128424235e-06,\"error\":6.719779968261719,\"got\":-6.719779968261719,\"index\":[1,50],\"want\":0.0},{\"bound\":7.3428986702695344e-06,\"error\":4.341130256652832,\"got\":-4.341130256652832,\"index\":[0,43],\"want\":0.0},{\"bound\":7.3428986702695344e-06,\"error\":2.9748353958129883,\"got\":-2.9748353958129883,\"index\":[0,23],\"want\":0.0},{\"bound\":7.3428986702695344e-06,\"error\":2.9009759426116943,\"got\":-2.9009759426116943,\"index\":[0,18],\"want\":0.0},{\"bound\":7.3428986702695344e-06,\"error\":2.6563830375671387,\"got\":-2.6563830375671387,\"index\":[0,12],\"want\":0.0}],\"wrong\":502,\"wrong_nonfinite\":0,\"yardstick_worst_abs\":0.0}","time_ns":null,"modelled_ns":null,"speedup":null,"over_rival":null,"better":false,"accepted":false,"max_rel_error":0.0,"roofline":null,"thread_use":0.0,"seconds":0.256758325,"tuning":"","tuned_candidate":""}','2mjgnwsmpfc8',0.701139929);
INSERT INTO "attempt" VALUES('2mjgnw3gszwp',3,'{"pass":"functional","parent":2,"rival":-1,"inspiration":-1,"lane":0,"generator":0}','{"change":"right","extraction":"ok","generator":"openai:m","no_program":"","schedule":"","story":"","seconds":0.007552713}','928ae3655a8ba49c711b177a327d8cbe1edd32c9332a89109ac7ffff373b28fc','{"outcome":"passed","gate":"","reason":"","evidence":"","time_ns":258727.08,"modelled_ns":null,"speedup":null,"over_rival":null,"better":true,"accepted":true,"max_rel_error":0.0,"roofline":{"bound":"memory","fraction":0.0004861046343397356},"thread_use":0.335300137080517,"seconds":0.842192449,"tuning":"","tuned_candidate":""}','2mjgnxm89q0r',1.55303638700000012917e+00);
INSERT INTO "attempt" VALUES('2mjgnw3gszwp',4,'{"pass":"optimization","parent":3,"rival":3,"inspiration":-1,"lane":0,"generator":0}','{"change":"tunable","extraction":"ok","generator":"openai:m","no_program":"","schedule":"","story":"","seconds":0.010837006}','fb016beac580c23bb049b470a5452af732100d880d8c1056ce686ebccae228c9','{"outcome":"passed","gate":"","reason":"","evidence":"","time_ns":107680.0,"modelled_ns":null,"speedup":null,"over_rival":{"value":2.505785661218425,"lo":2.112992807065465,"hi":134.89752348420154,"against":"attempt 3"},"better":true,"accepted":true,"max_rel_error":0.0,"roofline":{"bound":"memory","fraction":0.0011679832152413402},"thread_use":0.38491633264204106,"seconds":1.172890701,"tuning":"REPEAT=3                         1.30 us\nREPEAT=1                         941 ns\nbest: REPEAT=1\n","tuned_candidate":"41b50e20e81539437898f9c484b78efc637e1d18c15e427ac332aaeb60442a41"}','2mjgp0aab7v1',4.31188019700000069178e+00);
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
CREATE TABLE candidate (
  hash        TEXT PRIMARY KEY,
  origin      TEXT NOT NULL,              -- "file softmax.cc"
  created_at  TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "candidate" VALUES('41b50e20e81539437898f9c484b78efc637e1d18c15e427ac332aaeb60442a41','model openai:m attempt 4','2026-11-17T02:36:31Z');
INSERT INTO "candidate" VALUES('831aa496ee9617b7952aa4a26b158506ce2ad0aa83038fb2e12541bfc24ea4fd','smith','2026-11-17T02:35:59Z');
INSERT INTO "candidate" VALUES('928ae3655a8ba49c711b177a327d8cbe1edd32c9332a89109ac7ffff373b28fc','model openai:m attempt 3','2026-11-17T02:36:27Z');
INSERT INTO "candidate" VALUES('b38b63e18b8e49cf403cc65a1f2915ec6227a8d0d05949dc2b38ebfda3c5261a','smith','2026-11-17T02:36:03Z');
INSERT INTO "candidate" VALUES('ca1d7dd6b35b7b4aa5c154ebf37be18a4a210e02dd7ecaf7fb29a5b4c29c5261','smith','2026-11-17T02:36:03Z');
INSERT INTO "candidate" VALUES('da0e1b96db64cef075207e51da15b3b314fccf69aab625446be190b71025e806','model openai:m attempt 2','2026-11-17T02:36:27Z');
INSERT INTO "candidate" VALUES('f3aafb5daa8a04728542892f0aef7f6f31ac0e929df1c3bba24976c73fbf8277','model openai:m attempt 1','2026-11-17T02:36:27Z');
INSERT INTO "candidate" VALUES('fb016beac580c23bb049b470a5452af732100d880d8c1056ce686ebccae228c9','model openai:m attempt 4','2026-11-17T02:36:28Z');
CREATE TABLE candidate_file (
  candidate   TEXT NOT NULL REFERENCES candidate(hash) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,           -- 0 is the main file
  name        TEXT NOT NULL,
  artefact    TEXT NOT NULL,              -- hash of its content
  PRIMARY KEY (candidate, ordinal)
) WITHOUT ROWID;
INSERT INTO "candidate_file" VALUES('41b50e20e81539437898f9c484b78efc637e1d18c15e427ac332aaeb60442a41',0,'kernel.cc','0bb0d0e3d3588a798be41fd030dc2d6a222c6a6cda4fffce8642106fca352e03');
INSERT INTO "candidate_file" VALUES('831aa496ee9617b7952aa4a26b158506ce2ad0aa83038fb2e12541bfc24ea4fd',0,'kernel.cc','ebfbb2501f9c83737c6a8c02d71037afc2fc0cdc4c3aee3ed1452e9f7816f19f');
INSERT INTO "candidate_file" VALUES('928ae3655a8ba49c711b177a327d8cbe1edd32c9332a89109ac7ffff373b28fc',0,'kernel.cc','b24cc32258d420ac22dce18b4c4c61beba6177692ce4d463a26b2e8398613173');
INSERT INTO "candidate_file" VALUES('b38b63e18b8e49cf403cc65a1f2915ec6227a8d0d05949dc2b38ebfda3c5261a',0,'kernel.cc','773155a5cea5444f420525fcf99ce241eb362327ae55e8eb1c748a2839dc61bc');
INSERT INTO "candidate_file" VALUES('ca1d7dd6b35b7b4aa5c154ebf37be18a4a210e02dd7ecaf7fb29a5b4c29c5261',0,'kernel.cc','1a958cb9a3191db2e77a7d66c71d3dcf6330ec48ae72b1ab230e064448a6ae53');
INSERT INTO "candidate_file" VALUES('da0e1b96db64cef075207e51da15b3b314fccf69aab625446be190b71025e806',0,'kernel.cc','2f4b94faea1bb66e61ac6fe764cc5449b58e70f1a8c3c6f0e8dd88dcf129532a');
INSERT INTO "candidate_file" VALUES('f3aafb5daa8a04728542892f0aef7f6f31ac0e929df1c3bba24976c73fbf8277',0,'kernel.cc','bb514f9bfc72047743287d94cee0d52e2e236022067a11b66d0af23c39113746');
INSERT INTO "candidate_file" VALUES('fb016beac580c23bb049b470a5452af732100d880d8c1056ce686ebccae228c9',0,'kernel.cc','8962d9381bf965bf54d9d0622712562407b18db3cde98bd68da88900aa6052ca');
CREATE TABLE check_secret (
  task_key    TEXT PRIMARY KEY,
  seed        TEXT NOT NULL,              -- hexadecimal
  uses        INTEGER NOT NULL,
  created_at  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE gate (
  result      TEXT NOT NULL REFERENCES result(id) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  name        TEXT NOT NULL,
  state       TEXT NOT NULL,              -- passed, failed, skipped, flagged
  summary     TEXT NOT NULL,
  evidence    TEXT NOT NULL,              -- JSON or ''
  PRIMARY KEY (result, ordinal)
) WITHOUT ROWID;
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
INSERT INTO "model_call" VALUES('2mjgnw3gszwp','generator',1,0,0,'openai:m','received','84e27da8','2bb1f35b','complete','',100,0,0,50,0,0.0,0.001270833,1,'2026-11-17T02:36:27Z');
INSERT INTO "model_call" VALUES('2mjgnw3gszwp','generator',2,0,0,'openai:m','received','7cb97bbe','96649dbb','complete','',100,0,0,50,0,0.0,0.001004457,1,'2026-11-17T02:36:27Z');
INSERT INTO "model_call" VALUES('2mjgnw3gszwp','generator',3,0,0,'openai:m','received','299ae964','0f49c9e0','complete','',100,0,0,50,0,0.0,0.000961733,1,'2026-11-17T02:36:27Z');
INSERT INTO "model_call" VALUES('2mjgnw3gszwp','generator',4,0,0,'openai:m','received','c1a32006','fa3cf681','complete','',100,0,0,50,0,0.0,0.004736638,1,'2026-11-17T02:36:28Z');
CREATE TABLE profile (
  run         TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  attempt     INTEGER NOT NULL,
  artefact    TEXT NOT NULL,              -- hash of the CBOR document
  PRIMARY KEY (run, attempt)
) WITHOUT ROWID;
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
INSERT INTO "result" VALUES('2mjgn4q3vt6a','2026-11-17T02:36:03Z','831aa496ee9617b7952aa4a26b158506ce2ad0aa83038fb2e12541bfc24ea4fd',NULL,'core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','passed','',NULL,NULL,'','m','{}');
INSERT INTO "result" VALUES('2mjgn6hzc25k','2026-11-17T02:36:04Z','ca1d7dd6b35b7b4aa5c154ebf37be18a4a210e02dd7ecaf7fb29a5b4c29c5261',NULL,'core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','passed','',NULL,NULL,'','m','{}');
INSERT INTO "result" VALUES('2mjgn78scjdg','2026-11-17T02:36:05Z','ca1d7dd6b35b7b4aa5c154ebf37be18a4a210e02dd7ecaf7fb29a5b4c29c5261',NULL,'core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','passed','',22413.0,NULL,'','m','{"schema": "kforge.eval/1", "id": "2mjgn78scjdg", "created_at": "2026-11-17T02:36:05Z", "task": "core/relu", "task_hash": "6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71", "platform": "cpu", "shape_set": "small", "dims": {"B": 16, "D": 64}, "kernel": {"path": "out/kernel.cc", "hash": "ca1d7dd6b35b7b4aa5c154ebf37be18a4a210e02dd7ecaf7fb29a5b4c29c5261"}, "outcome": "passed", "gate": null, "reason": null, "evidence": null, "time_ns": {"median": 22413.0, "lo": 17736.0, "hi": 25029.0}, "time_absent_reason": null, "modelled": null, "speedup": null, "baselines": [], "absent_baselines": [], "precision": "fp32", "arithmetic": null, "error": {"max_abs": 0.0, "max_rel": 0.0, "rel_norm": 0.0, "bound": 0.0}, "kernelbench": {"passed": true, "max_abs": 0.0, "tolerance": 0.0001, "what": "|a - b| <= 1e-4 + 1e-4 |b| on the task''s own inputs"}, "roofline": {"bound": "memory", "fraction": 0.005611405551117098}, "achieved": {"gflops": 0.04568777049034043, "gbytes_s": 0.36550216392272344}, "setup": null, "peak_memory_bytes": 3637248, "task_path": null, "seconds": {"baselines": 7.41e-07, "build": 0.000337693, "checks": 0.155468108, "contender calls": 0.02009538100000001, "oracle": 0.00019654200000000002, "spins": 0.369131806, "timing": 0.552887371, "total": 0.729725289}, "thread_use": 0.3687266108152721, "spread": 0.26721099361977424, "rounds": 7, "clock": "parent''s wall time less 16 us for the message, batches of 1 call", "flops": 1024.0, "bytes": 8192.0, "cache": "cold", "threads": 2, "general": false, "libraries_allowed": false, "check_only": false, "asked": {"baselines": ["none"], "deterministic": false, "march": null}, "flags": ["bitwise_repeatable", "timed_one_by_one"], "gates": [{"name": "symbols", "state": "passed", "summary": "imports 4 listed names, defines none of the system''s", "evidence": null}, {"name": "nonfinite", "state": "passed", "summary": "infinities and NaN exactly where the oracle has them", "evidence": null}], "cases": [{"dims": {"B": 16, "D": 64}, "weight": 1.0, "time_ns": {"median": 22413.0, "lo": 17736.0, "hi": 25029.0}, "speedup": null, "modelled_ns": null}], "build": {"seconds": 0.260511207, "from_cache": true, "march": "avx512_bf16", "command": ["g++"], "log": ""}, "sandbox": "bubblewrap", "machine": "m", "kforge_version": "0.1.0", "notes": [], "advice": ["no baseline was present: `scripts/setup.sh platforms` installs more of them"], "seeds": [], "machine_text": "a machine"}');
INSERT INTO "result" VALUES('2mjgnwhc9cbw','2026-11-17T02:36:27Z','f3aafb5daa8a04728542892f0aef7f6f31ac0e929df1c3bba24976c73fbf8277',NULL,'core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','compile_error','',NULL,NULL,'','m','{}');
INSERT INTO "result" VALUES('2mjgnwsmpfc8','2026-11-17T02:36:27Z','da0e1b96db64cef075207e51da15b3b314fccf69aab625446be190b71025e806',NULL,'core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','wrong_value','accuracy',NULL,NULL,'','m','{}');
INSERT INTO "result" VALUES('2mjgnxm89q0r','2026-11-17T02:36:27Z','928ae3655a8ba49c711b177a327d8cbe1edd32c9332a89109ac7ffff373b28fc',NULL,'core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','passed','',258727.08,NULL,'','m','{}');
INSERT INTO "result" VALUES('2mjgp0aab7v1','2026-11-17T02:36:30Z','41b50e20e81539437898f9c484b78efc637e1d18c15e427ac332aaeb60442a41',NULL,'core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','passed','',107680.0,NULL,'','m','{}');
INSERT INTO "result" VALUES('2mjgp10vas4k','2026-11-17T02:36:31Z','41b50e20e81539437898f9c484b78efc637e1d18c15e427ac332aaeb60442a41',NULL,'core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','passed','',1272.0,NULL,'','m','{"schema": "kforge.eval/1", "id": "2mjgp10vas4k", "created_at": "2026-11-17T02:36:31Z", "task": "core/relu", "task_hash": "6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71", "platform": "cpu", "shape_set": "small", "dims": {"B": 16, "D": 64}, "kernel": {"path": "out/kernel.cc", "hash": "41b50e20e81539437898f9c484b78efc637e1d18c15e427ac332aaeb60442a41"}, "outcome": "passed", "gate": null, "reason": null, "evidence": null, "time_ns": {"median": 1272.0, "lo": 1222.0, "hi": 1322.0}, "time_absent_reason": null, "modelled": null, "speedup": null, "baselines": [], "absent_baselines": [], "precision": "fp32", "arithmetic": null, "error": {"max_abs": 0.0, "max_rel": 0.0, "rel_norm": 0.0, "bound": 0.0}, "kernelbench": {"passed": true, "max_abs": 0.0, "tolerance": 0.0001, "what": "|a - b| <= 1e-4 + 1e-4 |b| on the task''s own inputs"}, "roofline": {"bound": "memory", "fraction": 0.09887455394432981}, "achieved": {"gflops": 0.8050314465408805, "gbytes_s": 6.440251572327044}, "setup": null, "peak_memory_bytes": 3633152, "task_path": null, "seconds": {"baselines": 8.81e-07, "build": 0.000257083, "checks": 0.169867002, "contender calls": 0.020248401, "oracle": 0.00020687800000000002, "spins": 0.402338201, "timing": 0.540425153, "total": 0.721451702}, "thread_use": 0.39470632488669516, "spread": 0.04323899371069182, "rounds": 7, "clock": "parent''s wall time less 55 us for the message, batches of 1 call", "flops": 1024.0, "bytes": 8192.0, "cache": "cold", "threads": 2, "general": false, "libraries_allowed": false, "check_only": false, "asked": {"baselines": ["none"], "deterministic": false, "march": null}, "flags": ["bitwise_repeatable", "timed_one_by_one"], "gates": [{"name": "symbols", "state": "passed", "summary": "imports 4 listed names, defines none of the system''s", "evidence": null}, {"name": "nonfinite", "state": "passed", "summary": "infinities and NaN exactly where the oracle has them", "evidence": null}], "cases": [{"dims": {"B": 16, "D": 64}, "weight": 1.0, "time_ns": {"median": 1272.0, "lo": 1222.0, "hi": 1322.0}, "speedup": null, "modelled_ns": null}], "build": {"seconds": 0.248005034, "from_cache": true, "march": "avx512_bf16", "command": ["g++"], "log": ""}, "sandbox": "bubblewrap", "machine": "m", "kforge_version": "0.1.0", "notes": [], "advice": ["no baseline was present: `scripts/setup.sh platforms` installs more of them"], "seeds": [], "machine_text": "a machine"}');
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
INSERT INTO "run" VALUES('2mjgmxs52201','2026-11-17T02:35:56Z','core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','smith','rules','chain','{"task":"relu","platform":"cpu","precision":"fp32","shape_set":"small","cold":true,"threads":0,"baselines":["none"],"python":"","deterministic":false,"allow_libraries":false,"march":"","sandbox":null,"call_limit_seconds":0.0,"use_build_cache":true,"generators":["builtin"],"analyst":"builtin","strategy":"chain","width":0,"repairs":3,"budget":"4 attempts","target":null,"patience":0,"reference":"","from":"","without":["profile"],"profilers":[],"out":"out","record":"","config":"","seconds":2.0,"rounds":7}','72a8a9487c58047f','finished','exhausted',3,'2mjgn78scjdg',NULL,'','out','{}');
INSERT INTO "run" VALUES('2mjgnw3gszwp','2026-11-17T02:36:27Z','core/relu','6af31528b0f1cdece8b2f717b6622b8c2a2df594fc4f2999082d55a55500aa71','small','cpu','fp32','openai:m','rules','chain','{"task":"relu","platform":"cpu","precision":"fp32","shape_set":"small","cold":true,"threads":0,"baselines":["none"],"python":"","deterministic":false,"allow_libraries":false,"march":"","sandbox":null,"call_limit_seconds":0.0,"use_build_cache":true,"generators":["openai:m"],"analyst":"builtin","strategy":"chain","width":0,"repairs":3,"budget":"4 attempts","target":null,"patience":0,"reference":"","from":"","without":["profile"],"profilers":[],"out":"out","record":"","config":"","seconds":2.0,"rounds":7}','577ce68638f4ddd7','finished','attempts',4,'2mjgp10vas4k',NULL,'','out','{}');
CREATE TABLE sample (
  result      TEXT NOT NULL REFERENCES result(id) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  contender   TEXT NOT NULL,
  ns_per_call TEXT NOT NULL,              -- JSON array
  PRIMARY KEY (result, ordinal)
) WITHOUT ROWID;
CREATE TABLE seed (
  result      TEXT NOT NULL REFERENCES result(id) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  purpose     TEXT NOT NULL,
  seed        TEXT NOT NULL,              -- hexadecimal: SQLite's integers are signed
  PRIMARY KEY (result, ordinal)
) WITHOUT ROWID;
CREATE TABLE tuning (
  candidate   TEXT NOT NULL,              -- hash of the program before its values were filled in
  task_key    TEXT NOT NULL,
  machine     TEXT NOT NULL,
  document    TEXT NOT NULL,              -- JSON: the table and the best values
  created_at  TEXT NOT NULL,
  PRIMARY KEY (candidate, task_key, machine)
) WITHOUT ROWID;
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
CREATE INDEX build_by_candidate ON build(candidate);
CREATE INDEX result_by_task ON result(task, shape_set, platform, id);
CREATE INDEX run_by_task ON run(task, platform, id);
COMMIT;
