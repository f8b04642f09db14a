-- Who buys for a company: its name and its tax or business number, for the invoices.
alter table customer add column company text, add column tax_code text;
