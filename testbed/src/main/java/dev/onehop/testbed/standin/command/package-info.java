/** The stand-in's commands on data of several shards: reads, writes, transactions, listings. */
@NullMarked
package dev.onehop.testbed.standin.command;

import org.jspecify.annotations.NullMarked;
