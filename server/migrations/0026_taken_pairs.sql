-- Whether an account has a pair of name servers already is asked for each pair that might be given.
create index dns_account_pair_taken on dns_account_pair (pair);
