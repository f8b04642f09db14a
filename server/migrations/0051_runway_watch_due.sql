-- no-transaction
create index concurrently if not exists subscription_watch_due on subscription (watch_at)
  where status in ('active', 'past_due', 'suspended');
