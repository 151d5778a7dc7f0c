-- Lists of thousands of results, searched and sorted, without a look into the documents: the path of the kernel gets
-- a column, and an index holds all that a line of the list shows.

ALTER TABLE result ADD COLUMN kernel TEXT NOT NULL DEFAULT '';   -- the path it was read from
UPDATE result SET kernel = coalesce(json_extract(document, '$.kernel.path'), '') WHERE json_valid(document);

CREATE INDEX result_list ON result(id, created_at, task, shape_set, platform, precision, outcome, gate, against,
                                   machine, kernel, candidate, time_ns, speedup);
