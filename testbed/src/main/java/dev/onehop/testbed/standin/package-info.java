/**
 * The stand-in router: takes the place of a mongos in the testbed where no mongos binary is to be
 * had. It is for measuring and testing only, and says so wherever it shows.
 */
@NullMarked
package dev.onehop.testbed.standin;

import org.jspecify.annotations.NullMarked;
