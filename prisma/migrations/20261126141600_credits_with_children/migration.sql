-- Lists show and filter a run's credits with those of the runs below it.
UPDATE run_index i SET credits = i.credits + t.credits
FROM (
  WITH RECURSIVE below AS (
    SELECT parent_run_id AS above, credits_used FROM runs WHERE parent_run_id IS NOT NULL
    UNION ALL
    SELECT p.parent_run_id, b.credits_used FROM below b JOIN runs p ON p.id = b.above WHERE p.parent_run_id IS NOT NULL
  )
  SELECT above, sum(credits_used) AS credits FROM below GROUP BY above
) t
WHERE i.run_id = t.above AND t.credits > 0;
