alter table wallet_debt validate constraint wallet_debt_kind;
