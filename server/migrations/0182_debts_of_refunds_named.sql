-- Those of before are few: a transfer of a payment whose money was spent. In a transaction of its
-- own, because it reads every debt, and a top-up must not wait for it.
update wallet_debt set kind = 'refund' where key like 'refund:%' and kind = 'chargeback';
