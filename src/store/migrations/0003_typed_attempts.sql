-- One record per attempt with its stages: what judging found and what was decided lie apart, and an attempt
-- says whether the advice it was made on was followed. Of older attempts that is not known (NULL), so what was
-- measured is no longer booked to their advice. Records that are no JSON stay as they are: reading them is an
-- error that names them.

ALTER TABLE attempt RENAME COLUMN verdict TO judgement;
ALTER TABLE attempt ADD COLUMN decision TEXT;       -- JSON; NULL until judged
ALTER TABLE advice ADD COLUMN followed INTEGER;     -- NULL: not known

UPDATE attempt SET
  decision = json_object('better', json(iif(judgement ->> '$.better', 'true', 'false')),
                         'accepted', json(iif(judgement ->> '$.accepted', 'true', 'false'))),
  judgement = json_remove(
      json_set(judgement,
               '$.gate', iif(judgement ->> '$.gate' = '', NULL, judgement ->> '$.gate'),
               '$.roofline_fraction', judgement ->> '$.roofline.fraction'),
      '$.better', '$.accepted', '$.roofline')
WHERE judgement IS NOT NULL AND json_valid(judgement);

UPDATE attempt SET generation = json_remove(
      json_set(generation,
               '$.status', generation ->> '$.extraction',
               '$.rationale', generation ->> '$.story',
               '$.followed_advice', NULL),
      '$.extraction', '$.story')
WHERE generation IS NOT NULL AND json_valid(generation);

UPDATE advice SET measured_gain = NULL;
