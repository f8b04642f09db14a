-- The way to an invoice is reckoned from its id and the portal's secret (server/billing/links.ts).
-- Links that customers have already go on working: of their tokens the hash is kept.
alter table invoice add column old_token_hash bytea unique;
update invoice set old_token_hash = sha256(convert_to(token, 'UTF8'));
alter table invoice drop column token;
update notification set payload = payload #- '{payment,hosted_invoice_url}'
where payload #> '{payment,hosted_invoice_url}' is not null;
