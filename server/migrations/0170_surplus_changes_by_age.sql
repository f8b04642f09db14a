-- no-transaction
create index concurrently if not exists dns_change_surplus on dns_change (at) where is_surplus;
