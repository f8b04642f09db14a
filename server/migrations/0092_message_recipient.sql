-- no-transaction
-- The letters of one customer, newest first.
create index concurrently if not exists message_recipient on message (recipient, created_at desc);
