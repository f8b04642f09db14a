-- no-transaction
create index concurrently if not exists customer_newest on customer (created_at desc, id desc);
