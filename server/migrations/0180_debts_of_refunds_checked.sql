-- Those of before are few: a transfer of a payment whose money was spent.
update wallet_debt set kind = 'refund' where key like 'refund:%' and kind = 'chargeback';
alter table wallet_debt validate constraint wallet_debt_kind;
