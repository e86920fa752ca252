-- Each run that uses a secret adds an entry: the pages of rare subjects must not read all of those.
CREATE INDEX audit_entries_organization_id_subject_kind_id_idx ON audit_entries (organization_id, subject_kind, id DESC);
