-- What a transfer of ours gave back and the wallet no longer held is no chargeback (decision 160).
alter table wallet_debt drop constraint wallet_debt_kind;
alter table wallet_debt add constraint wallet_debt_kind check (
  case kind when 'lent' then due_at is not null
    when 'chargeback' then due_at is null and write_at is null
    when 'refund' then due_at is null and write_at is null else false end
) not valid;
