-- When a message is worth nothing any more: the end of a one-time code that it carries. Null for a letter, which is better late than never.
alter table message add column expires_at timestamptz;
-- Every SMS so far carried a code.
update message set expires_at = created_at + interval '10 minutes' where channel = 'sms' and sealed_text is not null;
-- What waits is counted and tidied without reading what was sent.
create index message_waiting on message (created_at) where sealed_text is not null;
