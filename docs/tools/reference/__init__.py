"""The site's reference pages, made from the definitions when the site is built."""
