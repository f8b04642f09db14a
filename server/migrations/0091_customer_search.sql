-- no-transaction
create index concurrently if not exists customer_search
  on customer using gin (customer_search_terms(name, email, phone));
