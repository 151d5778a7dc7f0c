-- A speedup without its interval misleads: lists show both, from the same index.

ALTER TABLE result ADD COLUMN speedup_lo REAL;
ALTER TABLE result ADD COLUMN speedup_hi REAL;
UPDATE result SET speedup_lo = json_extract(document, '$.speedup.lo'), speedup_hi = json_extract(document, '$.speedup.hi')
WHERE json_valid(document);

DROP INDEX result_list;
CREATE INDEX result_list ON result(id, created_at, task, shape_set, platform, precision, outcome, gate, against,
                                   machine, kernel, candidate, time_ns, speedup, speedup_lo, speedup_hi);
