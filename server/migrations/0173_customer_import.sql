-- Customers that are brought over from another panel (decision 157).
create table customer_import (
  id uuid primary key,
  file_name text not null,
  -- What was uploaded, until it is done or was not begun for three days.
  file text,
  sha256 text not null,
  uploaded_at timestamptz not null,
  uploaded_by text not null,
  -- Null: only looked at.
  started_at timestamptz,
  started_by text,
  -- Rows of the file, and how many of them are worked on.
  total_rows int not null,
  done_rows int not null default 0,
  created int not null default 0,
  skipped int not null default 0,
  -- Accounts that were created without their number, because another had got it meanwhile.
  without_phone int not null default 0,
  done_at timestamptz,
  -- When somebody last asked for letters to those who have chosen no password yet.
  letters_asked_at timestamptz
);
create index customer_import_uploaded on customer_import (uploaded_at);

-- Which customers came that way. The id that they had there goes with the account.
create table imported_customer (
  customer_id uuid primary key references customer (id) on delete cascade,
  import_id uuid not null references customer_import (id),
  line int not null,
  reference text,
  imported_at timestamptz not null,
  -- When a letter was last sent; null: none.
  written_at timestamptz,
  -- When the customer first set a password.
  came_at timestamptz,
  unique (import_id, line)
);
create index imported_customer_reference on imported_customer (lower(reference) text_pattern_ops)
  where reference is not null;
