-- no-transaction
-- Each search in the list of domains reads the names that have more than ASCII. Replaces
-- dns_zone_in_a_labels (0103), which the release before this one still uses.
create index concurrently if not exists dns_zone_with_letters on dns_zone (customer_id)
  where deleted_at is null and name like '%xn--%';
