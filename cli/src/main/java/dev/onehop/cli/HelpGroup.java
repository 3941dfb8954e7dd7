package dev.onehop.cli;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The heading in the help under which an option, or all options of a class, are listed. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.FIELD})
@interface HelpGroup {

  /** The heading, without a colon. */
  String value();
}
