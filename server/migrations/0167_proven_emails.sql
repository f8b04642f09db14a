-- When the reader of the mailbox was last known to be the account's owner. Registration proves the
-- phone only, so that anybody can register a stranger's address.
alter table customer add column email_proven_at timestamptz;
