-- no-transaction
create index concurrently if not exists site_unanswered on site (health_checked_at)
  where status = 'running' and unanswered > 0;
