-- Forged words are few among all that gateways ever said, and only they are dropped.
create index payment_notice_forged on payment_notice (received_at) where outcome = 'forged';
