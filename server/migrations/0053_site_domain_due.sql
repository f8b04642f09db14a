-- no-transaction
create index concurrently if not exists site_domain_due on site_domain (next_check_at)
  where released_at is null;
