/** What bulk writes take by way of a routed client and of a plain one. */
@NullMarked
package dev.onehop.jmh.bulk;

import org.jspecify.annotations.NullMarked;
