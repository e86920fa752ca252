-- An organization whose models cost nothing has few charges: finding them must not read all holds and releases.
CREATE INDEX credit_entries_net ON credit_entries (organization_id, kind, sequence) WHERE kind IN ('grant', 'charge', 'refund', 'adjustment');
DROP INDEX credit_entries_rare;
