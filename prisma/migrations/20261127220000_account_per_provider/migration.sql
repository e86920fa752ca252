-- A person has one password, and one account of each other provider: the newest stays.
DELETE FROM accounts a USING accounts newer
WHERE newer.user_id = a.user_id AND newer.provider_id = a.provider_id
  AND (newer.created_at, newer.id) > (a.created_at, a.id);

DROP INDEX accounts_user_id_idx;
CREATE UNIQUE INDEX accounts_user_id_provider_id_key ON accounts (user_id, provider_id);
