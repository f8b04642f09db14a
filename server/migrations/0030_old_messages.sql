-- The tidying finds what has become old by it.
create index message_sent on message (sent_at) where sent_at is not null;
