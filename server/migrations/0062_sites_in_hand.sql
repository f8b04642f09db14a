-- no-transaction
create index concurrently if not exists site_in_hand on site (status)
  where status in ('provisioning', 'deleting', 'failed')
    or (status = 'running' and generation > settled_generation);
