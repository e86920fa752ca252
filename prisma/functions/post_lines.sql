-- Posts lines to the ledger, and changes balances and slots by them. Lines of one organization keep their order. A line
-- without an amount only changes slots. The organizations are locked.
CREATE FUNCTION post_lines(now_ timestamptz, lines ledger_line[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE line ledger_line; entry credit_entries; entries credit_entries[]; slots int;
BEGIN
  entry.created_at := now_;
  -- `entry` is also the account as the last line left it. A NULL line at the end writes the last organization.
  FOREACH line IN ARRAY lines || NULL::ledger_line LOOP
    IF line.org IS DISTINCT FROM entry.organization_id THEN
      IF entry.organization_id IS NOT NULL THEN
        UPDATE organizations SET balance = entry.balance_after, ledger_sequence = entry.sequence, in_flight = in_flight + slots, updated_at = now_
        WHERE id = entry.organization_id;
      END IF;
      EXIT WHEN line.org IS NULL;
      SELECT id, ledger_sequence, balance, 0 INTO entry.organization_id, entry.sequence, entry.balance_after, slots FROM organizations WHERE id = line.org;
    END IF;
    slots := slots + line.slots;
    CONTINUE WHEN line.amount IS NULL;
    entry.sequence := entry.sequence + 1;
    entry.kind := line.kind;
    entry.amount := line.amount;
    entry.balance_before := entry.balance_after;
    entry.balance_after := entry.balance_after + line.amount;
    entry.run_id := line.run;
    entry.note := line.note;
    entry.actor := line.actor;
    entries := entries || entry;
  END LOOP;
  INSERT INTO credit_entries (organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at)
  SELECT organization_id, sequence, kind, amount, balance_before, balance_after, run_id, note, actor, created_at FROM unnest(entries);
END $$;
