-- no-transaction
-- Names that are shown in A-labels are looked for by their letters, too, in each search.
create index concurrently if not exists dns_zone_in_a_labels on dns_zone (customer_id)
  where deleted_at is null and shown_name like '%xn--%';
