-- no-transaction
-- A search in the list of servers compares every name that the customer's servers hold.
create index concurrently if not exists site_domain_of_customer on site_domain (customer_id)
  where released_at is null;
