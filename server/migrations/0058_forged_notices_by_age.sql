-- no-transaction
create index concurrently if not exists payment_notice_forged on payment_notice (received_at)
  where outcome = 'forged';
