-- Since when a refund may have happened without our knowing: the gateway was asked and no answer has said that it did nothing.
alter table payment_refund add column doubted_at timestamptz;
update payment_refund set doubted_at = created_at where status in ('requested', 'unclear');
