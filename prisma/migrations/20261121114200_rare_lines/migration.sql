-- The few lines among very many: what is neither hold, release nor charge in a ledger, and deliveries that were not
-- accepted. Starts write to neither.
CREATE INDEX credit_entries_rare ON credit_entries (organization_id, kind, sequence)
  WHERE kind IN ('grant', 'refund', 'adjustment');
CREATE INDEX deliveries_not_accepted ON deliveries (organization_id, trigger_id, outcome, id) WHERE outcome <> 'accepted';
