-- What of a top-up was set off against a chargeback's debt, minor units.
alter table payment add column set_off bigint not null default 0 check (set_off >= 0);
-- Attempts of a refund that were begun: two may run at once, and each must know of the other.
alter table payment_refund add column attempts int not null default 0;

-- A word about a refund or a dispute names a payment as the gateway does, and comes from outside.
create index payment_provider_ref on payment (driver, provider_ref) where provider_ref is not null;
create index payment_provider_transaction on payment (driver, provider_transaction_id)
  where provider_transaction_id is not null;
-- The first payment of a gateway, and those of a span of time.
create index payment_of_driver on payment (driver, created_at);
-- Refunds that somebody must look after.
create index payment_refund_undecided on payment_refund (created_at) where status in ('requested', 'unclear');

-- Each gateway has queues of its own now; nobody works on what these would go on adding.
do $$ begin
  if to_regclass('pgboss.schedule') is not null then
    delete from pgboss.schedule where name in ('settle-movements', 'settle-movements-of-days');
  end if;
end $$;
